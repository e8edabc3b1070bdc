/** Reads the size and type of a caller's file from its server's response to HEAD. */
import type { Guard } from './guard.ts'

const HEAD_MS = 3_000

/**
 * Returns undefined if the server does not answer HEAD, which does not rule out the file. Never
 * rejects.
 */
export async function measureUrl(
  guard: Guard,
  url: string,
): Promise<{ readonly bytes: number | undefined; readonly type: string | undefined } | undefined> {
  const answer = await guard.request({
    url,
    method: 'HEAD',
    headers: {},
    budgetMs: HEAD_MS,
    bodyMs: 0,
    bodyBytesMax: 0,
  })
  if (answer.outcome !== 'answered' || answer.status !== 200) return undefined
  const length = answer.headers['content-length']
  const bytes = typeof length === 'string' && /^\d{1,15}$/.test(length) ? Number(length) : undefined
  const type = answer.headers['content-type']
  return { bytes, type: typeof type === 'string' ? type.toLowerCase() : undefined }
}
