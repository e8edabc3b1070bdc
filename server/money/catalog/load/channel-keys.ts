/**
 * The keys of a channel: each is a channel of its own in the snapshot, with its own health and its
 * own answers at the vendor. The first one has the id of the channel, the second one `channel#2`.
 */
import type { Channel } from '../catalog.ts'
import type { KnownUpstream } from '../channel-settings.ts'

/** No id of a configured channel contains it. */
const SEPARATOR = '#'

/** Returns the channel once for each of its keys. */
export function splitKeys(
  channel: Channel,
  { eachKey }: Pick<KnownUpstream, 'eachKey'>,
): Channel[] {
  const all = eachKey?.(channel.settings) ?? []
  if (all.length < 2) return [{ ...channel, settings: all[0] ?? channel.settings }]
  const keyIds = all.map((_, index) => idOf(channel.id, index + 1))
  return all.map((settings, index) => ({
    ...channel,
    id: idOf(channel.id, index + 1),
    settings,
    ...(index === 0 ? { keyIds } : { key: { number: index + 1, channel: channel.id } }),
  }))
}

function idOf(channel: string, number: number): string {
  return number === 1 ? channel : `${channel}${SEPARATOR}${number}`
}

/** Returns the id of the configured channel, and the number of the key. */
export function parseKeyId(id: string): { readonly channel: string; readonly number: number } {
  const [channel = id, number = '1'] = id.split(SEPARATOR)
  return { channel, number: Number(number) }
}
