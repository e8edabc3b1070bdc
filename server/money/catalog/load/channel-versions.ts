/**
 * Old versions of channels: an open task keeps the credentials that submitted it even if the
 * operator has since changed, rotated or retired them.
 */
import type { Sql } from 'postgres'
import type { SecretBox } from '../../../base/lib/secrets/secrets.ts'
import type { Channel } from '../catalog.ts'
import { type KnownUpstreams, openSettings, resolveSettings } from '../channel-settings.ts'
import { readChannelVersion } from '../store.ts'
import { parseKeyId, splitKeys } from './channel-keys.ts'

/** Versions kept in memory; more than a deployment uses at once. */
const KEPT_MAX = 500

export interface ChannelVersions {
  /** Rejects with an Error that states why the version cannot be used. */
  open(channelId: string, version: number): Promise<Channel>
}

export function createChannelVersions(options: {
  readonly sql: Sql
  readonly upstreams: KnownUpstreams
  readonly secrets: SecretBox
}): ChannelVersions {
  const kept = new Map<string, Channel>()

  async function read(keyId: string, version: number): Promise<Channel> {
    const { channel: channelId, number } = parseKeyId(keyId)
    const row = await readChannelVersion(options.sql, channelId, version)
    if (!row) throw new Error(`channel ${channelId} has no version ${version}`)
    const upstream = Object.hasOwn(options.upstreams, row.upstream)
      ? options.upstreams[row.upstream]
      : undefined
    if (!upstream) throw new Error(`this version has no upstream "${row.upstream}"`)
    const opened = openSettings(row, options.secrets, { channelId, version })
    const found = resolveSettings(opened, upstream, process.env)
    if ('problem' in found) throw new Error(`channel ${channelId}: ${found.problem}`)
    const stored = { id: channelId, upstream: row.upstream, version, settings: found.settings }
    const channel = splitKeys(stored, upstream)[number - 1]
    if (!channel) throw new Error(`channel ${channelId} has no key ${number}`)
    return channel
  }

  return {
    async open(channelId, version) {
      const name = `${channelId} ${version}`
      const known = kept.get(name)
      if (known) return known
      const channel = await read(channelId, version)
      if (kept.size >= KEPT_MAX) kept.clear()
      kept.set(name, channel)
      return channel
    },
  }
}
