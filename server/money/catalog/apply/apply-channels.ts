/** Applies the channels of catalog files: a new version is saved only if settings changed. */
import { isDeepStrictEqual } from 'node:util'
import type { TransactionSql } from 'postgres'
import { findDifferences } from '../../../base/lib/differences.ts'
import { SecretError } from '../../../base/lib/secrets/secrets.ts'
import {
  type ChannelSettings,
  type KnownUpstream,
  openSettings,
  sealSettings,
  splitSecrets,
} from '../channel-settings.ts'
import { type ChannelRow, saveChannel, savePause } from '../store.ts'
import type { ApplyOptions, CatalogChange, Difference } from './change.ts'
import type { FileChannel } from './file-schema.ts'

export async function applyChannels(
  sql: TransactionSql,
  rows: readonly ChannelRow[],
  options: ApplyOptions,
): Promise<CatalogChange[]> {
  const existing = new Map(rows.map((row) => [row.id, row]))
  const changes: CatalogChange[] = []
  for (const { source, content } of options.files) {
    for (const channel of content.channels) {
      const row = existing.get(channel.id)
      const change = await applyChannel(sql, channel, channel.source ?? source, row, options)
      if (change) changes.push(change)
    }
  }
  return changes
}

async function applyChannel(
  sql: TransactionSql,
  channel: FileChannel,
  source: string,
  row: ChannelRow | undefined,
  options: ApplyOptions,
): Promise<CatalogChange | undefined> {
  const upstream = options.upstreams[channel.upstream]
  if (!upstream) return undefined
  // JSON has no undefined: compare with what would be stored.
  const desired: ChannelSettings = JSON.parse(JSON.stringify(channel.settings))
  const newVersion = !row || row.upstream !== channel.upstream || !isSame(row, desired, options)
  const what = [
    ...(row?.status === 'retired' ? ['status'] : []),
    ...(row && row.upstream !== channel.upstream ? ['upstream'] : []),
    ...(row && newVersion && row.upstream === channel.upstream ? ['settings'] : []),
    ...(row && isPauseChanged(channel, row) ? [channel.paused ? 'paused' : 'resumed'] : []),
    ...(row && row.source !== source ? [`source (was ${row.source || 'none'})`] : []),
  ]
  if (row && what.length === 0) return undefined
  const version = row ? row.version + (newVersion ? 1 : 0) : 1
  const place = { channelId: channel.id, version }
  const sealed =
    row && !newVersion
      ? { settings: row.settings, secrets: row.secrets }
      : sealSettings(desired, upstream, options.secrets, place)
  await saveChannel(sql, { id: channel.id, upstream: channel.upstream, source, version, ...sealed })
  if (isPauseChanged(channel, row)) await savePause(sql, channel.id, channel.paused ?? false)
  const change = { kind: 'channel', id: channel.id, what } as const
  if (!row) return { ...change, change: 'added' }
  const before = { upstream: row.upstream, settings: settingsOf(row, options.secrets) ?? {} }
  const after = { upstream: channel.upstream, settings: desired }
  const differences = maskDifferences(findDifferences(before, after), upstream)
  return { ...change, change: 'changed', differences }
}

function isPauseChanged({ paused }: FileChannel, row: ChannelRow | undefined): boolean {
  return paused !== undefined && paused !== ((row?.paused_at ?? null) !== null)
}

/** Hides the values of secrets; a name `env:NAME` is not a secret. */
function maskDifferences(differences: readonly Difference[], upstream: KnownUpstream) {
  const isSecret = ({ path }: Difference) =>
    upstream.secrets.some((name) => `${path}.`.replaceAll('[', '.').startsWith(`settings.${name}.`))
  const mask = (text: string | undefined) =>
    text === undefined || text.startsWith('"env:') ? text : '••••'
  return differences.map((difference): Difference => {
    if (!isSecret(difference)) return difference
    const { path } = difference
    const from = mask(difference.from)
    const to = mask(difference.to)
    return { path, from, to }
  })
}

/** Returns undefined if the secrets cannot be decrypted; they must then be sealed again. */
function settingsOf(
  row: ChannelRow,
  secrets: ApplyOptions['secrets'],
): ChannelSettings | undefined {
  try {
    return openSettings(row, secrets, { channelId: row.id, version: row.version })
  } catch (error) {
    if (error instanceof SecretError) return undefined
    throw error
  }
}

/**
 * Compares settings. A value that has become a secret counts as changed, so that it gets sealed.
 */
function isSame(
  row: ChannelRow,
  desired: ChannelSettings,
  { upstreams, secrets }: ApplyOptions,
): boolean {
  const upstream = upstreams[row.upstream]
  if (!upstream || Object.keys(splitSecrets(row.settings, upstream).secret).length > 0) return false
  return isDeepStrictEqual(settingsOf(row, secrets), desired)
}
