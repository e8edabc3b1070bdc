/** An issuer of tokens on loopback: its keys, its discovery, and every way in which it may fail. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'

export interface TestIssuer {
  readonly url: string
  /** Requests for the keys. */
  fetches(): number
  /** Publishes a new key, and no other unless `keeps`; tokens are signed with it. */
  rotate(options?: { keeps?: boolean; publishes?: boolean }): Promise<void>
  /** Answers with this status from now on; 200 for none. */
  fail(status: number): void
  /** Returns a token of an hour; `header` and `claims` replace its own, null leaves one out. */
  token(claims?: object, header?: object): Promise<string>
  /** The public key that tokens are signed with. */
  publicKey(): JWK
  stop(): Promise<void>
}

export async function startTestIssuer(algorithm = 'ES256'): Promise<TestIssuer> {
  let keys: JWK[] = []
  let signing: { key: CryptoKey; kid: string; jwk: JWK } | undefined
  let status = 200
  let fetches = 0
  let count = 0
  let url = ''
  const server: Server = createServer((request, response) => {
    const isKeys = request.url === '/keys'
    if (isKeys) fetches += 1
    const document = isKeys ? { keys } : { issuer: url, jwks_uri: `${url}/keys` }
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(status === 200 ? JSON.stringify(document) : 'away')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  async function rotate({ keeps = false, publishes = true } = {}): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true })
    count += 1
    const kid = `key-${count}`
    const jwk = { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: 'sig' }
    signing = { key: privateKey, kid, jwk }
    keys = [...(keeps ? keys : []), ...(publishes ? [jwk] : [])]
  }
  await rotate()

  return {
    url,
    rotate,
    fetches: () => fetches,
    fail(next) {
      status = next
    },
    publicKey: () => signing?.jwk ?? {},
    async token(claims = {}, header = {}) {
      if (!signing) throw new Error('no key')
      const now = Math.floor(Date.now() / 1000)
      const own = { iss: url, aud: 'tributary', sub: 'kim', iat: now, exp: now + 3600 }
      const all = Object.entries({ ...own, ...claims }).filter(([, value]) => value !== null)
      const head = { alg: algorithm, kid: signing.kid, ...header }
      const kept = Object.entries(head).filter(([, value]) => value !== null)
      return await new SignJWT(Object.fromEntries(all))
        .setProtectedHeader(Object.fromEntries(kept) as { alg: string })
        .sign(signing.key)
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
