/**
 * API keys: what callers send to the public API. Their form stands in secret-form.ts.
 *
 * For secret scanners: \btr-[0-9A-Za-z]{49}\b
 */
import { createSecretForm, hashSecret } from './secret-form.ts'

const FORM = createSecretForm('tr-')

export const createApiKey = FORM.create
export const isWellFormedApiKey = FORM.isWellFormed
export const displayApiKey = FORM.display
export const hashApiKey = hashSecret
