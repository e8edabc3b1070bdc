/** Another version of this repository, unpacked beside it and run by its own code. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')

type Gateways = Pick<
  typeof import('../../tests/support/gateway.ts'),
  'startGateway' | 'applySimulators' | 'createTestAccount'
>

export interface Release {
  readonly commit: string
  readonly folder: string
  /** The number of its newest migration. */
  readonly schema: string
  readonly gateways: Gateways
  readonly keys: typeof import('../../server/money/accounts/manage-keys.ts')
  remove(): void
}

/** Returns the commit that CHANGELOG.md names as the last release. */
export function findLastRelease(): string {
  const text = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')
  const commit = /^## \d+\.\d+\.\d+ \(.*commit ([0-9a-f]{7,40})\)$/m.exec(text)?.[1]
  if (commit === undefined) throw new Error('CHANGELOG.md names no commit of a release')
  return commit
}

export function readSchema(root = ROOT): string {
  const names = readdirSync(join(root, 'migrations')).filter((name) => name.endsWith('.sql'))
  return names.toSorted().at(-1)?.slice(0, 4) ?? ''
}

/** Unpacks `commit`, with its own packages where those installed here have other versions. */
export async function unpackRelease(commit: string): Promise<Release> {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-release-'))
  const archive = execFileSync('git', ['archive', '--format=tar', commit], {
    cwd: ROOT,
    maxBuffer: 1024 ** 3,
  })
  execFileSync('tar', ['-xf', '-', '-C', folder], { input: archive })
  const isSame = listPackages(folder) === listPackages(ROOT)
  if (isSame) symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  else execFileSync('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: folder })
  const gateways: Gateways = await import(join(folder, 'tests', 'support', 'gateway.ts'))
  // Releases up to 0.2.0 have no storeys.
  const storeys = join(folder, 'server', 'money')
  const parts = existsSync(storeys) ? storeys : join(folder, 'server')
  const keys = await import(join(parts, 'accounts', 'manage-keys.ts'))
  return {
    commit,
    folder,
    schema: readSchema(folder),
    gateways,
    keys,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Returns the packages that a gateway runs with. */
function listPackages(root: string): string {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<
      Record<string, { readonly version: string; readonly dev?: boolean }>
    >
  }
  const used = Object.entries(packages).filter(([name, { dev }]) => name !== '' && !dev)
  return used.map(([name, { version }]) => `${name} ${version}`).join('\n')
}
