// Signatures of releases by OpenSSH, which is where people verify them without another program.
import { spawnSync } from 'node:child_process'

/** A signature for something else is none of a release. */
export const SIGNATURE_NAMESPACE = 'tributary-release'

/** Writes the file's signature beside it, as `.sig`. Calls `fail` with what went wrong. */
export function sign(file, key, fail) {
  const args = ['-Y', 'sign', '-f', key, '-n', SIGNATURE_NAMESPACE, file]
  const { status, stderr, error } = spawnSync('ssh-keygen', args, {
    encoding: 'utf8',
    stdio: ['inherit', 'ignore', 'pipe'],
  })
  if (error?.code === 'ENOENT') fail('ssh-keygen is missing: install OpenSSH to sign')
  if (status !== 0) fail(`not signed: ${stderr.trim() || error?.message}`)
}
