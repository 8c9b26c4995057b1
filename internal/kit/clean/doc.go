// Package clean makes text of others safe to show: what tasks print, the names of jobs, users and
// files, the causes of failures, the properties of a job.
//
// Such text can contain anything. On a terminal it can move the cursor, on a page it can reverse the
// order of letters, in a table for a spreadsheet it can be a formula, and it can be a secret. The
// functions change what is dangerous so that a reader sees it, and leave all else as it is. They do
// not escape HTML: html/template does, and JavaScript uses textContent.
//
//	Text      text of several lines, for terminals and pages
//	Line      text that must stay on one line, such as a name
//	CutLines  bounds the length of lines, for pages
//	Cell      a text in a CSV file
//	Secret    whether the value of a property is secret; Properties hides such values
package clean
