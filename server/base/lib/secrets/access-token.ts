/**
 * Access tokens, with which scripts call the admin API. Their form is defined in secret-form.ts.
 *
 * For secret scanners: \btra-[0-9A-Za-z]{49}\b
 */
import { createSecretForm, hashSecret } from './secret-form.ts'

const FORM = createSecretForm('tra-')

export const createTokenText = FORM.create
export const isWellFormedAccessToken = FORM.isWellFormed
export const displayAccessToken = FORM.display
export const hashAccessToken = hashSecret
