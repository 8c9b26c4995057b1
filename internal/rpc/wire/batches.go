package wire

import "google.golang.org/protobuf/proto"

// Batches divides messages into groups of at most limit bytes, in order. A larger message has a
// group of its own.
func Batches[M proto.Message](messages []M, limit int) (all [][]M) {
	begin, bytes := 0, 0
	for i, m := range messages {
		n := proto.Size(m)
		if i > begin && bytes+n > limit {
			all = append(all, messages[begin:i])
			begin, bytes = i, 0
		}
		bytes += n
	}
	if begin < len(messages) {
		all = append(all, messages[begin:])
	}
	return all
}

// JoinReports joins the reports of a machine into messages with at most limit bytes of reports
// each. A report that is alone stays as it is.
func JoinReports(reports []*Report, limit int) (all []*Report) {
	for _, batch := range Batches(reports, limit) {
		joined := batch[0]
		if len(batch) > 1 {
			joined = &Report{Machine: joined.Machine, Report: &Report_Batch_{Batch: &Report_Batch{Reports: batch}}}
		}
		all = append(all, joined)
	}
	return all
}
