/** The site of the documentation as it is built: all pages, all links, the same bytes each time. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { listPages, ROOT, readNavigation } from '../../../scripts/site/pages.ts'
import { listReferencePages, pathOf } from '../../../server/api/endpoints/reference/page/page.ts'
import type { Site } from '../../../server/api/endpoints/reference/site.ts'
import { describeAll } from './support.ts'

const BUILD = join(ROOT, 'scripts', 'site', 'main.ts')
const read = (folder: string, name: string) => readFileSync(join(folder, name))

describe('the site of the documentation', () => {
  const folders = ['one', 'two'].map((name) => mkdtempSync(join(tmpdir(), `site-${name}-`)))
  const [folder = '', other = ''] = folders
  before(() => {
    for (const one of folders) {
      const { status, stderr } = spawnSync(process.execPath, [BUILD, one], { encoding: 'utf8' })
      assert.equal(status, 0, stderr)
    }
  })
  after(() => {
    for (const one of folders) rmSync(one, { recursive: true })
  })

  test('is the same bytes at every build', () => {
    const names = (where: string) =>
      readdirSync(where, { recursive: true, encoding: 'utf8' }).sort()
    assert.deepEqual(names(folder), names(other))
    for (const name of names(folder).filter((one) => /\.\w+$/.test(one))) {
      assert.ok(read(folder, name).equals(read(other, name)), name)
    }
  })

  test('has no link to a page, a heading, a picture or a call that is not there', () => {
    const { pages } = JSON.parse(read(folder, 'site.json').toString()) as Site
    const texts = new Map(
      Object.keys(pages).map((one) => [`/docs/${one}`, String(read(folder, `pages/${one}.html`))]),
    )
    const idsOf = (text: string) =>
      new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
    const ids = new Map([...texts].map(([path, text]) => [path, idsOf(text)]))
    const reference = new Set(listReferencePages(describeAll()).map(pathOf))
    const broken = [...texts].flatMap(([path, text]) =>
      [...text.matchAll(/ (?:href|src)="([^"]*)"/g)].flatMap(({ 1: link = '' }) => {
        if (/^[a-z]+:/.test(link)) return []
        const [target = '', id] = link.split('#')
        if (target.startsWith('/docs/assets/')) {
          return readdirSync(join(folder, 'assets')).includes(target.slice(13)) ? [] : [link]
        }
        if (reference.has(target)) return []
        const there = ids.get(target === '' ? path : target)
        return there && (id === undefined || there.has(id)) ? [] : [`${path}: ${link}`]
      }),
    )
    assert.deepEqual(broken, [])
  })

  test('contains every guide, and takes no address of the reference', () => {
    const pages = listPages()
    const listed = readNavigation(pages).flatMap((group) => group.pages.map((one) => one.address))
    const guides = [...pages.values()].filter((address) => address.startsWith('guides/'))
    assert.deepEqual(
      guides.filter((address) => !listed.includes(address)),
      [],
    )
    const taken = listReferencePages(describeAll()).map(({ slug }) => slug)
    assert.deepEqual(
      [...pages.values()].filter((address) => taken.includes(address)),
      [],
    )
  })

  test('runs nothing that a page brings', () => {
    for (const name of readdirSync(join(folder, 'pages'), { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.html')) continue
      const text = String(read(folder, `pages/${name}`))
      assert.doesNotMatch(text, /<(?:script|style|iframe|link)\b|<[^>]* (?:on\w+|style)=/, name)
    }
  })
})
