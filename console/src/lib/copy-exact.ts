/**
 * Copies shortened amounts to their last digit: elements with `data-copy` show a rounded text, and
 * a selection that contains them is copied with that attribute's text.
 */
export function copyExactAmounts(): void {
  document.addEventListener('copy', (event) => {
    const text = exactSelection(getSelection())
    if (text === undefined || !event.clipboardData) return
    event.clipboardData.setData('text/plain', text)
    event.preventDefault()
  })
}

/** Returns the selected text with exact amounts; undefined if it contains none. */
function exactSelection(selection: Selection | null): string | undefined {
  if (!selection || selection.isCollapsed || selection.rangeCount === 0) return undefined
  const range = selection.getRangeAt(0)
  const { commonAncestorContainer: node } = range
  const element = node instanceof Element ? node : node.parentElement
  const within = element?.closest<HTMLElement>('[data-copy]')
  if (within) return within.dataset.copy
  const copy = document.createElement('div')
  copy.append(range.cloneContents())
  const amounts = copy.querySelectorAll<HTMLElement>('[data-copy]')
  if (amounts.length === 0) return undefined
  for (const amount of amounts) amount.textContent = amount.dataset.copy ?? ''
  // Only a rendered element keeps the breaks between its cells and rows.
  copy.className = 'copied-selection'
  document.body.append(copy)
  const text = copy.innerText
  copy.remove()
  return text
}
