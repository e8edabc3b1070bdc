/**
 * Time-based one-time passwords with `otpauth`, which loads with the first one: RFC 6238 over
 * RFC 4226, SHA-1, 6 digits, 30 seconds.
 */
const STEP_SECONDS = 30
/** RFC 4226 section 4 recommends 160 bits. */
const SECRET_BYTES = 20
/**
 * Steps before and after now in which a valid code suggests a slow person or a wrong clock: an
 * hour.
 */
const CLOCK_STEPS = 120

/** Returns a new secret in base 32 (RFC 4648, no padding), as authenticator apps expect it. */
export async function createTotpSecret(): Promise<string> {
  const { Secret } = await import('otpauth')
  return new Secret({ size: SECRET_BYTES }).base32
}

/** Returns the `otpauth:` URL for the QR code. */
export async function totpUri(secret: string, email: string): Promise<string> {
  const { TOTP } = await import('otpauth')
  return new TOTP({ secret, label: email, issuer: 'Tributary' }).toString()
}

/**
 * Returns the step for which the code is valid: the current one, the previous or the next, which
 * allows clocks to differ by half a minute. Undefined for a wrong code.
 */
export async function matchTotp(
  secret: string,
  code: string,
  timeMs: number,
): Promise<number | undefined> {
  const off = await findStep(secret, code, timeMs, 1)
  return off === null ? undefined : Math.floor(timeMs / 1000 / STEP_SECONDS) + off
}

/** Returns whether the code is one that the app shows an hour before or after now. */
export async function isOfAnotherTime(
  secret: string,
  code: string,
  timeMs: number,
): Promise<boolean> {
  return (await findStep(secret, code, timeMs, CLOCK_STEPS)) !== null
}

/**
 * Returns how many steps the code is away from now; null if it belongs to none of the steps around
 * it.
 */
async function findStep(
  secret: string,
  code: string,
  timeMs: number,
  window: number,
): Promise<number | null> {
  if (!/^\d{6}$/.test(code)) return null
  const { TOTP } = await import('otpauth')
  return new TOTP({ secret, period: STEP_SECONDS }).validate({
    token: code,
    timestamp: timeMs,
    window,
  })
}
