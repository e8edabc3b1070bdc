/** The prefixes under which clients of the native API call; its own is `/api/v3`. */

const PREFIXES = ['/api/v3', '/v3', '/api/v1'] as const

/** Returns the path under `/v1` and under each prefix of the native API. */
export function onEveryPrefix(path: string): readonly [string, ...string[]] {
  return [`/v1${path}`, ...PREFIXES.map((prefix) => prefix + path)]
}

/** Returns true for paths whose errors have the form of the native API. */
export function isNativePath(path: string): boolean {
  return PREFIXES.some((prefix) => path.startsWith(`${prefix}/`))
}
