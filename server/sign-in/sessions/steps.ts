/** A sign-in under way: the cookie of its own that leads from one request to the next. */

import type { Exchange, SignInParts } from '../parts.ts'
import { readCookie, setCookie } from './cookies.ts'
import { deleteStep, findStep, insertStep, type StepRow } from './step-store.ts'
import { createToken, hashToken } from './token.ts'

/** Begins one, for a person whose password was right or for a passkey that will say who it is. */
export async function beginStep(
  { sql, place }: SignInParts,
  { response }: Exchange,
  begun: { readonly personId: string | null; readonly challenge: Buffer | null },
): Promise<void> {
  const { token, tokenHash } = createToken()
  await insertStep(sql, { tokenHash, ...begun })
  setCookie(response, 'step', token, place)
}

/** What the request's cookie goes on with, if it has not run out. */
export async function readStep(
  { sql, place }: SignInParts,
  { request }: Exchange,
): Promise<(StepRow & { readonly tokenHash: Buffer }) | undefined> {
  const tokenHash = hashToken(readCookie(request, 'step', place))
  const row = tokenHash && (await findStep(sql, tokenHash))
  return tokenHash && row ? { tokenHash, ...row } : undefined
}

/** Returns false when another request has finished it. */
export async function endStep(
  { sql, place }: SignInParts,
  { response }: Exchange,
  tokenHash: Buffer,
): Promise<boolean> {
  setCookie(response, 'step', undefined, place)
  return await deleteStep(sql, tokenHash)
}
