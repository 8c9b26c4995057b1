package taskproc

// PhaseResume is the phase of a Progress while the attempt brings what it goes on from
// to its own machine. In later phases no other machine need have that any more.
const PhaseResume = "resume"
