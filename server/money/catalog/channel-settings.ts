/**
 * Stores and loads a channel's settings: plain-text secrets are encrypted apart from the rest, and
 * the upstream's own schema validates the whole.
 */
import type { ZodType } from 'zod'
import type { SecretBox } from '../../base/lib/secrets/secrets.ts'
import { describeProblem } from '../../base/lib/text/describe-problem.ts'
import {
  dereference,
  type Environment,
  formatPath,
  type Path,
  variableNameOf,
} from './environment.ts'
import type { Mistake } from './mistakes.ts'
import { describeFileProblems } from './mistakes.ts'

/** The part of an upstream's definition that the catalog needs. */
export interface KnownUpstream {
  readonly settings: ZodType
  /** Top-level settings that are encrypted at rest and never shown. */
  readonly secrets: readonly string[]
  /** Returns the settings for each key of a channel. */
  readonly eachKey?: (settings: unknown) => readonly unknown[]
}
export type KnownUpstreams = Readonly<Record<string, KnownUpstream>>

export type ChannelSettings = Readonly<Record<string, unknown>>

export interface StoredSettings {
  readonly settings: ChannelSettings
  readonly secrets: Buffer | null
}

/** Separates secrets from the other settings. A secret written as `env:NAME` stays readable. */
export function splitSecrets(
  settings: ChannelSettings,
  upstream: KnownUpstream,
): { readonly open: ChannelSettings; readonly secret: ChannelSettings } {
  const isSecret = ([key, value]: [string, unknown]) =>
    upstream.secrets.includes(key) && variableNameOf(value) === undefined
  const entries = Object.entries(settings)
  return {
    open: Object.fromEntries(entries.filter((entry) => !isSecret(entry))),
    secret: Object.fromEntries(entries.filter(isSecret)),
  }
}

export function sealSettings(
  settings: ChannelSettings,
  upstream: KnownUpstream,
  secrets: SecretBox,
  place: { readonly channelId: string; readonly version: number },
): StoredSettings {
  const { open, secret } = splitSecrets(settings, upstream)
  const sealed = Object.keys(secret).length > 0
  return {
    settings: open,
    secrets: sealed ? secrets.seal(JSON.stringify(secret), placeOf(place)) : null,
  }
}

/**
 * Returns the settings as they were applied. Throws SecretError if the secrets cannot be decrypted.
 */
export function openSettings(
  stored: StoredSettings,
  secrets: SecretBox,
  place: { readonly channelId: string; readonly version: number },
): ChannelSettings {
  if (!stored.secrets) return stored.settings
  const opened: ChannelSettings = JSON.parse(secrets.open(stored.secrets, placeOf(place)))
  return { ...stored.settings, ...opened }
}

/** Returns the context that binds sealed settings to their row; `rekey` uses it too. */
export function placeOf(place: { readonly channelId: string; readonly version: number }): string {
  return `channel:${place.channelId}:${place.version}`
}

/**
 * Validates settings as they will be once every `env:NAME` is set. Variables that are not set here
 * are only listed in `missing`, since the gateway may have them.
 */
export function checkSettings(
  file: string,
  path: Path,
  settings: ChannelSettings,
  upstream: KnownUpstream,
  environment: Environment,
): { readonly mistakes: readonly Mistake[]; readonly missing: readonly string[] } {
  const { value, unset } = resolve(settings, environment)
  const parsed = upstream.settings.safeParse(value, { error: describeProblem })
  const missing = [...new Set(unset.map(({ name }) => name))]
  if (parsed.success) return { mistakes: [], missing }
  const unknowable = new Set(unset.map((found) => formatPath([...path, ...found.path])))
  const mistakes = describeFileProblems(file, parsed.error, path)
  return { mistakes: mistakes.filter((mistake) => !unknowable.has(mistake.path)), missing }
}

/** Returns the settings for the adapter, or the reason why the channel cannot be used. */
export function resolveSettings(
  settings: ChannelSettings,
  upstream: KnownUpstream,
  environment: Environment,
): { readonly settings: unknown } | { readonly problem: string } {
  const { value, unset } = resolve(settings, environment)
  const [missing] = unset
  if (missing) {
    const problem = `the environment variable ${missing.name} is not set`
    return { problem: `${formatPath(missing.path)}: ${problem}` }
  }
  const parsed = upstream.settings.safeParse(value, { error: describeProblem })
  if (parsed.success) return { settings: parsed.data }
  const [mistake] = describeFileProblems('', parsed.error)
  return { problem: `${mistake?.path}: ${mistake?.problem}` }
}

function resolve(settings: ChannelSettings, environment: Environment) {
  const unset: { path: Path; name: string }[] = []
  const value = dereference(settings, environment, (path, name) => unset.push({ path, name }))
  return { value, unset }
}
