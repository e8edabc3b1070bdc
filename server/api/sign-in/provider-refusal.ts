/** Refusals of a sign-in at a provider, with the word by which the console explains each. */
import { GatewayError } from '../../base/lib/errors.ts'

/** Reasons to refuse a sign-in after the provider has sent the browser back. */
const REFUSALS = {
  expired: [
    'invalid_request',
    'this took too long, or was started in another browser: sign in again',
  ],
  denied: ['unauthenticated', 'the provider did not sign you in'],
  invalid: ['unauthenticated', 'the provider’s answer is not valid: sign in again'],
  unavailable: ['unavailable', 'the provider cannot be reached: try again, or sign in another way'],
  no_email: ['forbidden', 'the provider did not state a verified e-mail address for you'],
  known_address: [
    'conflict',
    'someone already signs in with this address: sign in as before, then link the provider',
  ],
  not_invited: ['forbidden', 'nobody has invited you: ask an owner of your account'],
  accept_terms: ['forbidden', 'accept the terms on the sign-up page first'],
  locked: ['forbidden', 'you are locked out: ask an operator'],
  linked_elsewhere: ['conflict', 'this identity belongs to another person'],
  other_person: ['conflict', 'this is not the person who started'],
  not_fresh: ['forbidden', 'the provider did not confirm a second factor: use your own'],
  bad_invitation: ['not_found', 'this invitation is no longer valid'],
} as const

export type ProviderRefusal = keyof typeof REFUSALS

/** A refusal that the console's page explains. */
export class RefusedAtProvider extends GatewayError {
  readonly reason: ProviderRefusal
  /** The path of the console that a sign-in was to lead to. */
  returnTo: string | undefined

  constructor(reason: ProviderRefusal, cause?: unknown) {
    const [row, message] = REFUSALS[reason]
    super(row, { message, ...(cause === undefined ? {} : { cause }) })
    this.reason = reason
  }
}
