// Every route has a screen, so that each page is photographed and checked. The README's screenshots
// exist and are small enough for a phone.
import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { screens } from './list.ts'

const root = join(import.meta.dirname, '../../..')
const PICTURE_KB_MAX = 150

test('every route has a screen, and every screen a name of its own', () => {
  const routes = readFileSync(join(root, 'web/routes.tsx'), 'utf8')
  const named = [...routes.matchAll(/^ {2}path: paths\.(\w+),$/gm)].map((one) => one[1])
  const created = routes.match(/createRoute\(/g) ?? []
  // Three of them are frames, which have no address.
  assert.equal(named.length, created.length - 3, 'routes take their addresses from paths.ts')
  const shown = new Set<string | undefined>(screens.map(({ route }) => route))
  assert.deepEqual(
    named.filter((name) => !shown.has(name)),
    [],
    'add a screen to test/journeys/screen/*.ts',
  )
  assert.equal(new Set(screens.map(({ name }) => name)).size, screens.length)
})

test('the screenshots of the README exist and are small', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const pictures = [...readme.matchAll(/src="(docs\/pictures\/[^"]+)" alt="([^"]+)"/g)]
  assert.deepEqual(
    pictures.map((one) => one[1]),
    ['docs/pictures/home.png', 'docs/pictures/key.png', 'docs/pictures/console.png'],
  )
  for (const [, file = '', alt = ''] of pictures) {
    const kilobytes = statSync(join(root, file)).size / 1_024
    assert.ok(kilobytes <= PICTURE_KB_MAX, `${file} has ${Math.ceil(kilobytes)} KB`)
    assert.ok(alt.length > 20, `${file} has an alternative text`)
  }
})
