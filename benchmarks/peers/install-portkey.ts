/** Installs Portkey's gateway, the peer from npm, into a folder outside the repository. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PORTKEY = '@portkey-ai/gateway@1.15.2'

/** Returns the folder, which the caller must remove, or undefined if the installation failed. */
export function installPortkey(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'benchmark-portkey-'))
  const manifest = { private: true, overrides: { '@hono/node-server': '1.13.8' } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  const installed = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--silent', PORTKEY], {
    cwd: folder,
    encoding: 'utf8',
  })
  if (installed.status === 0) return folder
  console.log(`Portkey could not be installed: ${installed.stderr}`)
  return undefined
}
