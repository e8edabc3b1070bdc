/** Compares what the vendor received from its own SDK and from the gateway for the same call. */
import { isDeepStrictEqual } from 'node:util'
import type { ReceivedCall } from '../../simulators/index.ts'

/** Headers that decide what the vendor does; the others describe the client or the connection. */
const TELLING = ['anthropic-version', 'content-type', 'x-api-key']

/** Returns how requests differ. Ids of tools are the vendor's own, new in every answer. */
export function compareCalls(
  straight: readonly ReceivedCall[],
  forwarded: readonly ReceivedCall[],
): string[] {
  const [own, ours] = [straight, forwarded].map((calls) =>
    calls.filter(({ operation }) => operation === 'messages').map(describe),
  )
  if (isDeepStrictEqual(own, ours)) return []
  return [`the SDK sends ${JSON.stringify(own)}, the gateway ${JSON.stringify(ours)}`]
}

function describe({ method, url, headers, body_base64 }: ReceivedCall) {
  const body = JSON.parse(Buffer.from(body_base64, 'base64').toString())
  return {
    method,
    // `:` in a path may be escaped or not; both are signed as they are sent.
    path: decodeURIComponent(url),
    headers: Object.fromEntries(TELLING.map((name) => [name, headers[name]])),
    // Bedrock reads them in the body alone; its SDK leaves the header beside it.
    betas: body.anthropic_beta ?? headers['anthropic-beta'],
    credentials: describeCredentials(headers),
    body: withoutIds(body),
  }
}

function describeCredentials({ authorization = '', ...headers }: ReceivedCall['headers']) {
  const [scheme, scope] = authorization.split(' ')
  const signed = scope?.startsWith('Credential=') ? scope : undefined
  return { scheme, signed, dated: 'x-amz-date' in headers, token: headers['x-amz-security-token'] }
}

function withoutIds(body: unknown): unknown {
  const ids: string[] = []
  return JSON.parse(
    JSON.stringify(body).replaceAll(/toolu_\w+/g, (id) => {
      if (!ids.includes(id)) ids.push(id)
      return `tool ${ids.indexOf(id)}`
    }),
  )
}
