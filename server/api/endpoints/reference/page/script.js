// The reference's only script: search, copying, the language of the examples, and old links.
const { hash, pathname } = location
if (hash && !document.getElementById(hash.slice(1))) {
  const link = [...document.querySelectorAll('nav a')].find(({ href }) => href.endsWith(hash))
  if (link) location.replace(link.href)
  else if (pathname === '/docs') location.replace(`/docs/admin${hash}`)
}

const search = document.querySelector('#search')
search.hidden = false
search.addEventListener('input', () => {
  const words = search.value.toLowerCase().split(/\s+/)
  for (const list of document.querySelectorAll('nav ul')) {
    for (const item of list.children) {
      const text = `${list.dataset.group} ${item.textContent}`.toLowerCase()
      item.hidden = !words.every((word) => text.includes(word))
    }
    const isEmpty = [...list.children].every(({ hidden }) => hidden)
    list.hidden = isEmpty
    list.previousElementSibling.hidden = isEmpty
  }
})

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
