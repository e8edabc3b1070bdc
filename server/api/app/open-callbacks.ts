/**
 * Wires the addresses for vendor callbacks: whether, and at which URL, vendors can reach this
 * gateway.
 */

import type { SecretBox } from '../../base/lib/secrets/secrets.ts'
import {
  type CallbackAddresses,
  createCallbackAddresses,
} from '../../work/tasks/callbacks/callback-addresses.ts'
import { type Config, localUrl } from '../config/config.ts'

export interface OpenedCallbacks extends CallbackAddresses {
  /** Allows callbacks from the demo's vendors, which run on this machine. */
  markDemo(): void
}

/** `port` is called only once there are tasks. */
export function openCallbacks(
  config: Pick<Config, 'publicUrl' | 'isPublicUrlSet' | 'allowPrivateTargets' | 'host' | 'port'>,
  secrets: SecretBox,
  port: () => number,
): OpenedCallbacks {
  let isDemo = false
  const base = () => {
    if (config.isPublicUrlSet && mayBeUsed(config)) return config.publicUrl
    return isDemo ? localUrl(config.host, port()) : undefined
  }
  return {
    ...createCallbackAddresses(secrets, base),
    markDemo() {
      isDemo = true
    },
  }
}

/** The token is a secret: it travels in plain text only inside private networks. */
function mayBeUsed({
  publicUrl,
  allowPrivateTargets,
}: Pick<Config, 'publicUrl' | 'allowPrivateTargets'>) {
  return publicUrl.startsWith('https://') || allowPrivateTargets
}
