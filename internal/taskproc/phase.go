package taskproc

// PhaseResume is the phase of a Progress while the attempt fetches the checkpoint that it
// resumes from. In later phases the attempt needs no other machine for it.
const PhaseResume = "resume"
