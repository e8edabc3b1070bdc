/** Lets a double click and a key that is held down act once. */

/**
 * The second click of a double click often hits what the first one has put under the pointer: the
 * shade of a dialog that has opened, or the button that stops what was sent. It may also send a
 * form again.
 */
export function actOnce(): void {
  let clicked: Element | null = null
  let isForm = false
  let isSecond = false
  const onPress = ({ target, detail }: MouseEvent) => {
    const control = controlOf(target)
    isSecond = detail === 2 && (isForm || control !== clicked)
    if (detail > 1) return
    clicked = control
    isForm = control?.matches('[type="submit"]') ?? false
  }
  const onClick = (event: MouseEvent) => {
    if (event.detail === 2 && isSecond) refuse(event)
  }
  const onKey = (event: KeyboardEvent) => {
    // In a text of many lines it begins new ones.
    const isText = event.target instanceof HTMLTextAreaElement
    if (event.key === 'Enter' && event.repeat && !isText) refuse(event)
  }
  document.addEventListener('mousedown', onPress, true)
  document.addEventListener('click', onClick, true)
  document.addEventListener('keydown', onKey, true)
}

function controlOf(target: EventTarget | null): Element | null {
  return target instanceof Element ? (target.closest('button, a, label, tr') ?? target) : null
}

function refuse(event: Event): void {
  event.preventDefault()
  event.stopPropagation()
}
