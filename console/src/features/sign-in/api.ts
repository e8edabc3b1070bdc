/** The routes of signing in, and the browser's part of a passkey. */
import { sendRequest } from '../../lib/api.ts'

export type Factor = 'totp' | 'passkey' | 'recovery_code'

export interface Outcome {
  readonly status: 'signed_in' | 'second_factor'
  readonly methods: readonly Factor[]
}

export interface Invitation {
  readonly email: string
  readonly account_name: string | null
  readonly operator: boolean
  readonly known: boolean
}

const post = async <Answer>(path: string, body?: unknown) =>
  (await sendRequest(`POST /session${path}`, body === undefined ? {} : { body })) as Answer

export const signIn = (body: { email: string; password: string }) => post<Outcome>('', body)

export const sendSecondFactor = (body: { code: string } | { recovery_code: string }) =>
  post<Outcome>('/second-factor', body)

export const setUp = (body: object) => post<Outcome>('/set-up', body)

export const viewInvitation = (token: string) => post<Invitation>('/invitation/view', { token })

export const acceptInvitation = (body: object) => post<Outcome>('/invitation', body)

export const resetPassword = (body: { token: string; password: string }) =>
  post<undefined>('/reset', body)

export const stepUp = (body: { password: string; code?: string }) => post<unknown>('/step-up', body)

/** Throws what the browser says when the user gives up. */
export async function usePasskey(place: '/passkey' | '/step-up/passkey'): Promise<Outcome> {
  const options = await post<PublicKeyCredentialRequestOptionsJSON>(`${place}/options`, {})
  const credential = await navigator.credentials.get({
    publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
  })
  if (!(credential instanceof PublicKeyCredential)) throw new Error('no passkey')
  return post<Outcome>(place, { credential: credential.toJSON() })
}

/** From the address's fragment, which never reaches a server or a log. */
export function readToken(): string {
  return new URLSearchParams(location.hash.slice(1)).get('token') ?? ''
}
