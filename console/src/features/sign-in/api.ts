/** The browser's part of a passkey, and helpers shared by the sign-in pages. */
import { browserSupportsWebAuthn, startAuthentication } from '@simplewebauthn/browser'
import { useEffect, useState } from 'react'
import { type AdminAnswer, callAdmin } from '../../lib/api.ts'
import { ENDED } from '../../lib/session.tsx'

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
function readToken(): string {
  return new URLSearchParams(location.hash.slice(1)).get('token') ?? ''
}

/** Returns the token of the link: of a later one as well, which the browser opens in this page. */
export function useToken(): string {
  const [token, setToken] = useState(readToken)
  useEffect(() => {
    const follow = () => setToken((before) => readToken() || before)
    window.addEventListener('hashchange', follow)
    return () => window.removeEventListener('hashchange', follow)
  }, [])
  return token
}

const METHODS: readonly SignInMethod[] = ['totp', 'passkey', 'recovery_code']
const REFUSALS = [
  'expired',
  'denied',
  'invalid',
  'unavailable',
  'no_email',
  'known_address',
  'not_invited',
  'accept_terms',
  'locked',
  'linked_elsewhere',
  'other_person',
  'not_fresh',
  'bad_invitation',
] as const

/**
 * Reads what a provider's sign-in came back with, a refusal, or factors that are asked for; and
 * whether a session has just ended.
 */
export function readReturn() {
  const hash = new URLSearchParams(location.hash.slice(1))
  const factors = hash.get('factors')?.split(',') ?? []
  const methods = METHODS.filter((method) => factors.includes(method))
  const refusal = REFUSALS.find((reason) => reason === hash.get('refused'))
  const isEnded = hash.has(ENDED)
  return { refusal, isEnded, methods: methods.length > 0 ? methods : undefined }
}
