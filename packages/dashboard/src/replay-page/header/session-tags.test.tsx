import { beforeEach, expect, test } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { makeSession } from '../../../test/make-session.ts'
import { openReplay } from '../../../test/open-replay.tsx'
import { ApiError } from '../../api/call-api.ts'
import type { TagEdit } from '../../api/session-source.ts'

const tagged = makeSession([{ id: 'support', kind: 'agent' }], { name: 'Refund', tags: ['triage', 'p1'] })

/** A source that edits the tags as the server does, and keeps what it was asked. */
function editable(session = tagged) {
  const edits: TagEdit[] = []
  let { tags } = session.session
  const editTags = (_id: string, edit: TagEdit) => {
    edits.push(edit)
    tags = [...tags.filter((tag) => !edit.remove?.includes(tag)), ...(edit.add ?? [])]
    return Promise.resolve({ ...session.session, tags })
  }
  return { edits, source: { editTags } }
}

// A phone shows tags when somebody asks for details.
beforeEach(() => page.viewport(1440, 900))

const shownTags = () => [...document.querySelectorAll('.header-tag')].map(({ textContent }) => textContent)

test('tags are added with Enter, removed with ×, and Escape closes the editor', async () => {
  const { edits, source } = editable()
  await openReplay(tagged, source)
  await page.getByRole('button', { name: 'Edit tags' }).click()
  await expect.element(page.getByRole('textbox', { name: 'New tag' })).toHaveFocus()

  await userEvent.keyboard(' e bug {Enter}')
  await expect.element(page.getByRole('button', { name: 'Remove tag e bug' })).toBeVisible()
  await page.getByRole('button', { name: 'Remove tag triage' }).click()
  await expect.element(page.getByRole('button', { name: 'Remove tag triage' })).not.toBeInTheDocument()
  await expect.element(page.getByRole('textbox', { name: 'New tag' })).toHaveFocus()
  await userEvent.keyboard('not added{Escape}')

  await expect.element(page.getByRole('button', { name: 'Edit tags' })).toHaveFocus()
  expect(shownTags()).toEqual(['p1', 'e bug'])
  expect(edits).toEqual([{ add: ['e bug'] }, { remove: ['triage'] }])
})

test('without tags the button says so, and the keyboard alone is enough', async () => {
  const untagged = makeSession([{ id: 'support', kind: 'agent' }], { name: 'Refund' })
  const { edits, source } = editable(untagged)
  await openReplay(untagged, source)
  const button = page.getByRole('button', { name: 'Add tag' })
  await expect.element(button).toBeVisible()
  button.element().focus()
  await userEvent.keyboard('{Enter}first{Enter}')
  await expect.element(page.getByRole('button', { name: 'Remove tag first' })).toBeVisible()
  await userEvent.keyboard('{Shift>}{Tab}{/Shift}{Enter}')
  await expect.element(page.getByRole('button', { name: 'Remove tag first' })).not.toBeInTheDocument()
  await userEvent.keyboard('{Enter}')
  await expect.element(button).toHaveFocus()
  expect(edits).toEqual([{ add: ['first'] }, { remove: ['first'] }])
})

test('what the server refuses is said, and what was typed stays', async () => {
  const refusal = new ApiError(403, 'FORBIDDEN', 'This key may not change sessions.')
  await openReplay(tagged, { editTags: () => Promise.reject(refusal) })
  await page.getByRole('button', { name: 'Edit tags' }).click()
  await userEvent.keyboard('bug{Enter}')
  await expect.element(page.getByRole('alert')).toHaveTextContent('This key may not change sessions.')
  await expect.element(page.getByRole('textbox', { name: 'New tag' })).toHaveValue('bug')
})

test('tags of a recording can only be read', async () => {
  await openReplay(tagged)
  await expect.element(page.getByText('triage')).toBeVisible()
  expect(shownTags()).toEqual(['triage', 'p1'])
  expect(page.getByRole('button', { name: 'Edit tags' }).elements()).toEqual([])
})
