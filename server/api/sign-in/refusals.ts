/** Refusals of sign-in, which never say which part was wrong. */
import { GatewayError } from '../../base/lib/errors.ts'

export function wrongPassword(): GatewayError {
  return new GatewayError('unauthenticated', { message: 'wrong e-mail address or password' })
}

export function wrongCode(): GatewayError {
  return new GatewayError('unauthenticated', { message: 'wrong or used code' })
}

export function wrongPasskey(cause?: unknown): GatewayError {
  return new GatewayError('unauthenticated', {
    message: 'this passkey was not accepted: try again',
    cause,
  })
}

/** The sign-in in progress has expired or was completed. */
export function noStep(): GatewayError {
  return new GatewayError('unauthenticated', { message: 'this took too long: sign in again' })
}

/** Used, expired and invented links get the same answer. */
export function noLink(): GatewayError {
  return new GatewayError('not_found', {
    message: 'this link is no longer valid: it works once, for a limited time',
  })
}

/** The last password, passkey or identity of a person is kept. */
export function noWayIn(remedy: string): GatewayError {
  return new GatewayError('conflict', { message: `you would have no way to sign in: ${remedy}` })
}
