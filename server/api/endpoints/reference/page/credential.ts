/** The credential of an example; its secret is a variable of the shell. */
import type { ReferenceOperation } from '../operation.ts'

export interface Credential {
  readonly header: 'Authorization' | 'Cookie'
  /** The text before the secret. */
  readonly prefix: string
  readonly variable: 'KEY' | 'TOKEN' | 'SESSION'
}

export function credentialOf(
  { needsKey, takesToken, needsSession }: ReferenceOperation,
  publicUrl: string,
): Credential | undefined {
  if (needsKey) return { header: 'Authorization', prefix: 'Bearer ', variable: 'KEY' }
  if (takesToken) return { header: 'Authorization', prefix: 'Bearer ', variable: 'TOKEN' }
  if (!needsSession) return undefined
  const cookie = `${publicUrl.startsWith('https:') ? '__Host-' : ''}tributary_session=`
  return { header: 'Cookie', prefix: cookie, variable: 'SESSION' }
}

/** Returns the other headers: the example's own, and the console's if no token is sent. */
export function extraHeaders(operation: ReferenceOperation): (readonly [string, string])[] {
  const { envelope, method, takesToken, example } = operation
  const isConsole = envelope === 'admin' && method !== 'GET' && !takesToken
  return [
    ...Object.entries(example?.headers ?? {}),
    ...(isConsole ? [['x-tributary-console', '1'] as const] : []),
  ]
}
