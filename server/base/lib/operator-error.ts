/**
 * A refused operator request. The message is for people, in full sentences without secrets: the
 * command line prints nothing else.
 */
export class OperatorError extends Error {}

/** Refuses an id that no account has, which is often an account's name. */
export function refuseUnknownAccount(id: string): never {
  throw new OperatorError(`there is no account ${id}: \`account list\` shows the ids`)
}
