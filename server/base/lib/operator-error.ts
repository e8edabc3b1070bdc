/**
 * A refused operator request. The message is for people, in full sentences without secrets: the
 * command line prints nothing else.
 */
export class OperatorError extends Error {}
