// Package splits cuts the files of a job's input into splits, one a map task,
// and reads a split's parts one behind another.
//
// Files are cut as Hadoop's FileInputFormat cuts them: at multiples of
// max(MinSize, min(MaxSize, block size)), the last piece up to 1.1 times as
// long. Beside that, neighbouring small files are put into one split, so that
// a directory of small files does not cost a task a file. The order of files
// and bytes is kept, which is what the order of equal keys rests on.
//
// Where splits lie changes nothing of that. Of many files it takes long to find
// out, so it may be left to Locate while the job runs already.
package splits
