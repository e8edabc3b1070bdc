/**
 * Something the operator asked for cannot be done. The message is for people, whole sentences
 * without secrets: the command line prints it and nothing else.
 */
export class OperatorError extends Error {}
