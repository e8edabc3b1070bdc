/** The last use of channels: by the records, and by what this process has seen since. */
import { type ChannelUse, joinUse, toUse } from '../../../../money/usage/channel-use.ts'
import { readChannelUse } from '../../../../money/usage/channel-use-store.ts'
import type { AdminServices } from '../../services.ts'

/** Returns a function from a channel's id to its last use. */
export async function readUses({
  sql,
  health,
}: Pick<AdminServices, 'sql' | 'health'>): Promise<(channel: string) => ChannelUse> {
  const rows = new Map((await readChannelUse(sql)).map((row) => [row.channel, row]))
  return (channel) => {
    const seen = { ...health.lastUse(channel), failure: health.lastError(channel) }
    return joinUse(toUse(rows.get(channel)), seen)
  }
}
