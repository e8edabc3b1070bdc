/** A sign-in in progress, identified across requests by its own cookie. */

import type { Exchange, SignInParts } from '../parts.ts'
import { wrongPassword } from '../refusals.ts'
import { readCookie, setCookie } from './cookies.ts'
import { deleteStep, findStep, insertStep, type StepRow } from './step-store.ts'
import { createToken, hashToken } from './token.ts'

/**
 * Begins a sign-in, for a person whose password was right or for a passkey that will identify one.
 * Throws 401 if the password was changed meanwhile.
 */
export async function beginStep(
  { sql, consoleAddress }: SignInParts,
  { response }: Exchange,
  step: Omit<Parameters<typeof insertStep>[1], 'tokenHash'>,
): Promise<void> {
  const { token, tokenHash } = createToken()
  if (!(await insertStep(sql, { tokenHash, ...step }))) throw wrongPassword()
  setCookie(response, 'step', token, consoleAddress)
}

/** Returns the sign-in of the request's cookie, if it has not expired. */
export async function readStep(
  { sql, consoleAddress }: SignInParts,
  { request }: Exchange,
): Promise<(StepRow & { readonly tokenHash: Buffer }) | undefined> {
  const tokenHash = hashToken(readCookie(request, 'step', consoleAddress))
  const row = tokenHash && (await findStep(sql, tokenHash))
  return tokenHash && row ? { tokenHash, ...row } : undefined
}

/** Returns false if another request has completed it. */
export async function endStep(
  { sql, consoleAddress }: SignInParts,
  { response }: Exchange,
  tokenHash: Buffer,
): Promise<boolean> {
  setCookie(response, 'step', undefined, consoleAddress)
  return await deleteStep(sql, tokenHash)
}
