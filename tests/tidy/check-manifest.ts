/** What comes with `npm ci`: exact, few, and nothing that runs on its own. */
import { readText } from './read-tree.ts'

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
  readonly allowScripts?: Readonly<Record<string, boolean>>
}

interface Locked {
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly optional?: boolean
  readonly hasInstallScript?: boolean
  readonly resolved?: string
  readonly integrity?: string
}

/** An older version beside the current one has a name of its own: `npm:PACKAGE@VERSION`. */
const EXACT = /^(?:npm:@?[\w./-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/

function readManifest(): Manifest {
  return JSON.parse(readText('package.json'))
}

function readLocked(): [name: string, Locked][] {
  const lock: { packages: Record<string, Locked> } = JSON.parse(readText('package-lock.json'))
  return Object.entries(lock.packages)
    .filter(([path]) => path !== '')
    .map(([path, locked]) => [path.replace(/^.*node_modules\//, ''), locked])
}

export function checkManifest(): string[] {
  const manifest = readManifest()
  const { dependencies, devDependencies, optionalDependencies } = manifest
  const all = { ...dependencies, ...devDependencies, ...optionalDependencies }
  const loose = Object.entries(all)
    .filter(([, version]) => !EXACT.test(version))
    .map(([name, version]) => `${name} has no exact version: ${version}`)
  const locked = readLocked()
  const running = locked
    .filter(([name, one]) => one.hasInstallScript && !isAllowed(name, manifest))
    .map(([name]) => `${name} runs a script on install`)
  const unchecked = locked
    .filter(([, one]) => !one.integrity)
    .map(([name]) => `${name} is locked without a checksum`)
  return [...loose, ...running, ...unchecked]
}

/** A platform's binaries are allowed as a family: only one of them is ever installed. */
/** Named with `false` it is installed and its script is not run. */
function isAllowed(name: string, { allowScripts = {} }: Manifest): boolean {
  const family = (text: string) => text.replace(/[^/]*$/, '')
  return Object.entries(allowScripts).some(
    ([named, yes]) => named === name || (yes && sameScope(family(named), family(name))),
  )
}

function sameScope(a: string, b: string): boolean {
  return a !== '' && a === b
}

/** Packages that a production install brings, the platform's own binaries left out. */
export function countProductionPackages(): number {
  return readLocked().filter(([, one]) => !one.dev && !one.optional && !one.devOptional).length
}
