/** A certificate of `localhost` that clients of this process trust. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'

/** Returns key and certificate in PEM, and the file of the certificate; `remove` deletes it. */
export function makeTrustedCertificate() {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-certificate-'))
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const kind = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2']
  const options = { cwd: folder, stdio: 'pipe' } as const
  execFileSync('openssl', ['req', ...kind, ...subject, '-keyout', 'key', '-out', 'cert'], options)
  const file = join(folder, 'cert')
  const cert = readFileSync(file, 'utf8')
  setDefaultCACertificates([...getCACertificates('default'), cert])
  const remove = () => rmSync(folder, { recursive: true, force: true })
  return { key: readFileSync(join(folder, 'key'), 'utf8'), cert, file, remove }
}
