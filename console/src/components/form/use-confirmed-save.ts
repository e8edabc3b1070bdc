/** Saves a form once its changes are confirmed, and keeps the refusal for its fields. */
import { useState } from 'react'
import type { Change } from './list-changes.ts'
import { useSubmit } from './use-submit.ts'

interface Question<Body> {
  readonly body: Body
  readonly changes: readonly Change[]
}

/** `ask` opens the dialog of the props `dialog`, `save` saves at once, `fail` refuses locally. */
export function useConfirmedSave<Body>(save: (body: Body) => Promise<void>) {
  const [question, setQuestion] = useState<Question<Body>>()
  const [isOpen, setOpen] = useState(false)
  const submission = useSubmit((send: () => Promise<void>) => send())
  const saveNow = (body: Body) => submission.submit(() => save(body))
  return {
    isBusy: submission.isBusy,
    failure: submission.failure,
    save: saveNow,
    fail: (error: Error) => submission.submit(() => Promise.reject(error)),
    ask(body: Body, changes: readonly Change[]) {
      submission.clear()
      setQuestion({ body, changes })
      setOpen(true)
    },
    dialog: {
      isOpen,
      changes: question?.changes ?? [],
      onClose: () => setOpen(false),
      onConfirm() {
        if (question) saveNow(question.body)
      },
    },
  }
}
