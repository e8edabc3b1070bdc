// `npm run surface` writes what this version promises into docs/surface.txt: docs/versions.md.
import { writeFileSync } from 'node:fs'
import { readCurrentSurface, SURFACE_FILE } from './current.ts'

const lines = await readCurrentSurface()
writeFileSync(SURFACE_FILE, `${lines.join('\n')}\n`)
console.log(`${lines.length} lines in ${SURFACE_FILE}`)
