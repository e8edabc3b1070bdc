// The only script below /docs: search, copying, the language of the examples, and old links.
const { hash, pathname } = location
if (hash && !document.getElementById(hash.slice(1))) {
  const link = [...document.querySelectorAll('nav a')].find(({ href }) => href.endsWith(hash))
  if (link) location.replace(link.href)
  else if (pathname === '/docs') location.replace(`/docs/admin${hash}`)
}

const search = document.querySelector('#search')
const found = document.querySelector('#found')
search.hidden = false
search.addEventListener('input', () => {
  const words = search.value.toLowerCase().split(/\s+/)
  for (const list of document.querySelectorAll('nav ul[data-group]')) {
    for (const item of list.children) {
      const text = `${list.dataset.group} ${item.textContent}`.toLowerCase()
      item.hidden = !words.every((word) => text.includes(word))
    }
    const isEmpty = [...list.children].every(({ hidden }) => hidden)
    list.hidden = isEmpty
    list.previousElementSibling.hidden = isEmpty
  }
  showFound(search.value.trim())
})

const FOUND_MAX = 12
const EXCERPT_LENGTH = 140
/** Pages that few search for: what was decided, and what was changed. */
const BACKGROUND = /^\/docs\/(?:decisions|protocols|changelog|conformity|contributing)\b/
const { sections, engine } = document.body.dataset
let opening

/** Reads all pages and calls into an index, once somebody searches. */
async function openIndex() {
  const [{ default: MiniSearch }, texts, calls] = await Promise.all([
    import(engine),
    fetch(sections).then((answer) => answer.json()),
    fetch('/llms.txt').then((answer) => answer.text()),
  ])
  const index = new MiniSearch({
    idField: 'at',
    fields: ['heading', 'page', 'text'],
    storeFields: ['heading', 'page', 'text'],
    searchOptions: {
      boost: { heading: 4, page: 2 },
      boostDocument: (at) => (BACKGROUND.test(at) ? 0.4 : 1),
      prefix: true,
      fuzzy: 0.1,
      combineWith: 'AND',
    },
  })
  index.addAll([...texts, ...readCalls(calls)])
  return index
}

/** The calls of the reference, from its contents for programs. */
function* readCalls(text) {
  const lines = text.matchAll(/^- \[([A-Z]+ [^\]]+)\]\(\S*?(\/docs\/[^)]+)\): (.*)$/gm)
  for (const { 1: heading, 2: at, 3: summary } of lines) {
    yield { at, heading, page: 'API reference', text: summary }
  }
}

async function showFound(query) {
  if (!sections) return
  opening ??= openIndex()
  const index = await opening
  if (query !== search.value.trim()) return
  const hits = query === '' ? [] : index.search(query).slice(0, FOUND_MAX)
  found.replaceChildren(...hits.map(renderHit))
  found.hidden = query === ''
  if (hits.length > 0 || query === '') return
  const none = document.createElement('li')
  none.className = 'none'
  none.textContent = 'Nothing found'
  found.append(none)
}

function renderHit({ id, heading, page, text, terms }) {
  const link = document.createElement('a')
  link.href = id
  link.textContent = heading === '' ? page : `${page} › ${heading}`
  const excerpt = document.createElement('small')
  const lower = text.toLowerCase()
  const first = Math.max(0, ...terms.map((term) => lower.indexOf(term)).filter((at) => at > 0))
  const near = first - EXCERPT_LENGTH / 3
  const start = near <= 0 ? 0 : text.indexOf(' ', near) + 1
  excerpt.textContent = `${start > 0 ? '… ' : ''}${text.slice(start, start + EXCERPT_LENGTH)}`
  link.append(excerpt)
  const item = document.createElement('li')
  item.append(link)
  return item
}

for (const figure of document.querySelectorAll('figure.code')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(figure.querySelector('code').textContent)
    button.textContent = 'Copied'
  })
  figure.querySelector('figcaption').append(button)
}

const KEY = 'tributary.docs.language'
const LANGUAGES = ['curl', 'Python', 'JavaScript']
function choose(language) {
  document.body.dataset.language = language
  for (const button of document.querySelectorAll('.languages button')) {
    button.setAttribute('aria-pressed', String(button.textContent === language))
  }
}
for (const examples of document.querySelectorAll('.examples')) {
  if (!examples.querySelector('[data-language]')) continue
  const choice = document.createElement('div')
  choice.className = 'languages'
  choice.setAttribute('role', 'group')
  choice.setAttribute('aria-label', 'Language of the examples')
  for (const language of LANGUAGES) {
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = language
    button.addEventListener('click', () => {
      localStorage.setItem(KEY, language)
      choose(language)
    })
    choice.append(button)
  }
  examples.prepend(choice)
}
const stored = localStorage.getItem(KEY)
choose(LANGUAGES.includes(stored) ? stored : 'curl')
