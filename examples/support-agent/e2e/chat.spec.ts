import { agentSession, before, expect, expectSession, test } from 'playhead/playwright'

test('tells a customer about both charges, from the right data', async ({ page }) => {
  await page.goto('/')
  await page.getByLabel('Your message').fill('I was charged twice for my subscription')
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(page.locator('li.agent')).toContainText('two charges of 129.50 dollars')

  const session = await agentSession(page)
  expectSession(session).toHaveCalledInOrder(['classify_intent', 'fetch_customer_data', 'session_complete'])
  expectSession(session).toSatisfyOrder(before('find_account', 'fetch_customer_data'))
  expectSession(session).toHaveEffects([])
})

test('answers a greeting without looking up a customer', async ({ page }) => {
  await page.goto('/')
  await page.getByLabel('Your message').fill('hello')
  await page.getByLabel('Your message').press('Enter')
  await expect(page.locator('li.agent')).not.toBeEmpty()

  expectSession(await agentSession(page)).not.toHaveCalled('fetch_customer_data')
})
