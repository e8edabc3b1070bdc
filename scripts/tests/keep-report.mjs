// Loaded before the tests of a process. The process is ended after its last test, and what a pipe
// has not taken by then is lost: the end of the report, and with it the reason of a failure. Node
// has no public function for writes that wait.
process.stdout._handle?.setBlocking?.(true)
