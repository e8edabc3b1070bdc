/** Sends a file of a build in the encoding that the caller takes. */
import type { Context } from '../context.ts'
import { sendBytes } from '../reply.ts'
import type { BuiltFile, Encoding } from './files.ts'

/** File names below assets/ contain a hash of the content, so the files never change. */
export function sendBuiltFile(context: Context, name: string, { type, bodies }: BuiltFile): void {
  const encoding = chooseEncoding(context.request.headers['accept-encoding'] ?? '', bodies)
  const headers = {
    'content-type': type,
    'cache-control': name.startsWith('assets/')
      ? 'public, max-age=31536000, immutable'
      : 'public, max-age=3600',
    vary: 'accept-encoding',
    'cross-origin-resource-policy': 'same-origin',
    ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
  }
  sendBytes(context, 200, headers, bodies[encoding] ?? bodies.identity)
}

const ACCEPTS = {
  br: /\bbr\b(?!\s*;\s*q=0(?:\.0*)?\b)/,
  gzip: /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\b)/,
}

function chooseEncoding(accepted: string, bodies: BuiltFile['bodies']): Encoding {
  const offers = (encoding: 'br' | 'gzip') =>
    bodies[encoding] !== undefined && ACCEPTS[encoding].test(accepted)
  if (offers('br')) return 'br'
  return offers('gzip') ? 'gzip' : 'identity'
}
