/** The browser's part of a passkey, and helpers shared by the sign-in pages. */
import { browserSupportsWebAuthn, startAuthentication } from '@simplewebauthn/browser'
import { type AdminAnswer, callAdmin } from '../../lib/api.ts'

export type SignInAnswer = AdminAnswer<'POST /session'>
export type SignInMethod = SignInAnswer['methods'][number]

/** Browsers support passkeys only on secure origins with a host name. */
export function hasPasskeys(): boolean {
  const isBareAddress = /^[\d.]+$|^\[/.test(location.hostname)
  return browserSupportsWebAuthn() && !isBareAddress
}

/** Throws the browser's error if the user cancels. */
export async function signInWithPasskey(): Promise<SignInAnswer> {
  const options = await callAdmin('POST /session/passkey/options', {})
  return callAdmin('POST /session/passkey', { body: { credential: await sign(options) } })
}

export async function stepUpWithPasskey(): Promise<void> {
  const options = await callAdmin('POST /session/step-up/passkey/options', {})
  await callAdmin('POST /session/step-up/passkey', { body: { credential: await sign(options) } })
}

type RequestOptions = AdminAnswer<'POST /session/passkey/options'>

async function sign(options: RequestOptions) {
  const { id, response } = await startAuthentication({ optionsJSON: options })
  return { id, response }
}

/** Reads the token from the URL's fragment, which never reaches a server or a log. */
export function readToken(): string {
  return new URLSearchParams(location.hash.slice(1)).get('token') ?? ''
}
