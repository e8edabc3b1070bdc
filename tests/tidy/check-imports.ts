/** Who imports whom: design rules that hold because this reads every import. */
import { posix } from 'node:path'
import type { ResolvedImport, SourceFile } from './read-tree.ts'
import {
  ADAPTER_MODULES,
  CONSOLE_MAY_IMPORT,
  CONSOLE_TABLES,
  EXCEPTIONS,
  MAY_IMPORT,
  PACKAGE_PLACES,
  SEES_ALL,
} from './rules.ts'

/** The part of server/ a file belongs to: its folder; of app/ and at the top, the file itself. */
function partOf(path: string): string {
  const [, storey = '', part = storey, file = ''] = path.split('/')
  return part === 'app' ? `${part}/${file}` : part
}

function isException(from: string, to: string): boolean {
  return EXCEPTIONS.some((one) => one.from === from && one.to === to)
}

/** Between the parts of server/, and between server/ and the other top folders. */
export function checkImports(sources: readonly SourceFile[]): string[] {
  const offences: string[] = []
  for (const { path, imports } of sources) {
    for (const { target, typeOnly } of imports) {
      if (target === undefined || isException(path, target)) continue
      const problem = path.startsWith('console/')
        ? judgeConsoleImport(path, target, typeOnly)
        : judgeImport(path, target)
      if (problem) offences.push(`${path} imports ${target}: ${problem}`)
    }
  }
  return offences
}

function judgeImport(path: string, target: string): string | undefined {
  const [top = ''] = path.split('/')
  const [targetTop = ''] = target.split('/')
  if (top === 'simulators' && targetTop !== 'simulators') {
    return 'the simulators share no code with anything: a misreading must not be made twice'
  }
  if (top !== 'server') return undefined
  if (targetTop !== 'server') return 'the gateway imports nothing from outside server/'
  const from = partOf(path)
  const to = partOf(target)
  if (from === to) return from === 'upstreams' ? judgeAdapter(path, target) : undefined
  if (SEES_ALL.has(from)) return undefined
  const allowed = MAY_IMPORT[from]
  if (!allowed) return `give the part "${from}" a line in tests/tidy/rules.ts`
  if (!allowed.includes(to)) return `"${from}" may import ${allowed.join(', ') || 'Node only'}`
  if (to === 'upstreams' && depthOf(target) > 1) return 'only the contract, no vendor'
  return undefined
}

const CONTRACT = /^server\/api\/admin\/(?:.+\/)?contract\.ts$/

/**
 * The console: features know the shared parts and never each other nor the app around them; the
 * server is known by the types of its contract and a few tables alone.
 */
function judgeConsoleImport(path: string, target: string, typeOnly: boolean): string | undefined {
  if (CONTRACT.test(target)) return typeOnly ? undefined : 'its types only'
  const [top = '', , to = '', toFeature = ''] = target.split('/')
  if (CONSOLE_TABLES.has(target)) return undefined
  if (top !== 'console') return 'the console imports nothing but itself, tables, contract’s types'
  const [, , from = '', feature = ''] = path.split('/')
  const allowed = CONSOLE_MAY_IMPORT[from]
  if (!allowed || to === from) {
    const isForeign = from === 'features' && feature !== toFeature
    return isForeign ? 'features never import each other' : undefined
  }
  return allowed.includes(to) ? undefined : `"${from}" may import ${allowed.join(', ') || 'itself'}`
}

/** Folders below upstreams/: 1 for the contract, 2 for a vendor's own file. */
function depthOf(path: string): number {
  return path.split('/').length - 3
}

function judgeAdapter(path: string, target: string): string | undefined {
  if (path === 'server/wire/upstreams/index.ts') return undefined
  const own = posix.dirname(path)
  const isContract = depthOf(target) === 1 && target !== 'server/wire/upstreams/index.ts'
  if (isContract) return undefined
  return depthOf(path) > 1 && target.startsWith(`${vendorFolder(own)}/`)
    ? undefined
    : 'an adapter imports the contract and its own folder, never another vendor'
}

function vendorFolder(folder: string): string {
  return folder.split('/').slice(0, 4).join('/')
}

/** Each runtime package has its place; `lib`, `dialects` and adapters have their own rule. */
export function checkPackages(sources: readonly SourceFile[]): string[] {
  const offences: string[] = []
  for (const { path, imports } of sources) {
    if (!path.startsWith('server/')) continue
    for (const one of imports) {
      if (one.target !== undefined) continue
      const problem = judgePackage(path, one)
      if (problem) offences.push(`${path} imports ${one.specifier}: ${problem}`)
    }
  }
  return offences
}

function judgePackage(path: string, { specifier, typeOnly }: ResolvedImport): string | undefined {
  const part = partOf(path)
  const isNode = specifier.startsWith('node:')
  if (part === 'lib' && !isNode) return 'lib imports Node only'
  if (part === 'dialects' && !['node:buffer', 'zod'].includes(specifier)) return 'dialects are pure'
  if (part === 'upstreams' && !ADAPTER_MODULES.has(specifier)) {
    return 'an adapter has no network, no database, no files and no clock'
  }
  if (part === 'upstreams' && specifier === 'node:http' && !typeOnly) return 'types of it only'
  if (part === 'pipeline' && specifier === 'postgres') return 'the pipeline knows no SQL'
  if (isNode || typeOnly) return undefined
  const places = PACKAGE_PLACES[specifier] ?? PACKAGE_PLACES[specifier.replace(/\/.*/, '/*')]
  if (!places) return 'give the package its place in tests/tidy/rules.ts'
  if (SEES_ALL.has(part) || places.some((place) => path.startsWith(place))) return undefined
  return `its place is ${places.join(', ')}`
}

const CLIENT_NAMES = new Set([
  'request',
  'get',
  'Agent',
  'ClientRequest',
  'connect',
  '*',
  'default',
])
const CLIENT_MODULES = new Set(['node:http', 'node:https', 'node:http2', 'node:tls', 'node:net'])
const CLIENT_PLACES = [
  'server/work/pipeline/send/wire.ts',
  'server/base/outbound/',
  'server/base/database/',
]

/** Nothing but the wire and the guarded outbound client can open a connection. */
export function checkClients(sources: readonly SourceFile[]): string[] {
  const offences: string[] = []
  for (const { path, imports, masked } of sources) {
    if (!path.startsWith('server/') || CLIENT_PLACES.some((place) => path.startsWith(place)))
      continue
    for (const { specifier, names, typeOnly } of imports) {
      const client = names.find((name) => CLIENT_NAMES.has(name))
      if (typeOnly || !CLIENT_MODULES.has(specifier) || !client) continue
      offences.push(`${path} takes ${client} of ${specifier}`)
    }
    if (/(?<![\w$.])fetch\s*\(/.test(masked.code)) offences.push(`${path} calls fetch`)
  }
  return offences
}
