/**
 * The guard of every URL from callers: it checks the text, then the addresses that the host
 * resolves to, then the connected address. Requests do not follow redirects; downloads do, and
 * check every further URL in the same way.
 */
import type { AddressPolicy } from './address.ts'
import { type Download, type DownloadRequest, downloadGuarded } from './download.ts'
import { readUrl } from './read-url.ts'
import { type OutboundRequest, type OutboundResult, sendGuarded } from './request.ts'
import { type Resolve, resolveByDns } from './resolve.ts'
import { resolveOutboundTarget } from './target.ts'

export interface GuardOptions {
  /** Read for every URL, since demo mode begins after startup. */
  readonly policy: () => AddressPolicy
  /** Replaces DNS in tests. */
  readonly resolve?: Resolve
}

export interface Guard {
  /** Returns why a URL must not be used, judging by its text alone, or undefined. */
  readUrl(text: string): string | undefined
  /**
   * Returns why a URL must not be used, judging by its addresses too, or undefined. A host that
   * does not resolve now is accepted: it is checked again at every use.
   */
  checkUrl(text: string): Promise<string | undefined>
  /** Sends one request to a caller's URL. Never rejects. */
  request(request: OutboundRequest): Promise<OutboundResult>
  /** Starts a download. Never rejects; an answered download must be closed. */
  download(request: DownloadRequest): Promise<Download>
}

const CHECK_MS = 2_000

export function createGuard({ policy, resolve = resolveByDns }: GuardOptions): Guard {
  return {
    readUrl(text) {
      const read = readUrl(text, policy())
      return 'refusal' in read ? read.refusal : undefined
    },
    async checkUrl(text) {
      const found = await resolveOutboundTarget(
        text,
        policy(),
        resolve,
        AbortSignal.timeout(CHECK_MS),
      )
      return 'refusal' in found ? found.refusal : undefined
    },
    request: (request) => sendGuarded(request, policy(), resolve),
    download: (request) => downloadGuarded(request, policy(), resolve),
  }
}
