// The lint rule `house/doors`: a file imports from its own room and from rooms below it, never from a room above.
// `layers.json` lists the rooms of each package from bottom to top; a folder that it does not list is an error.
// Rooms in an inner list share a layer: neither they nor the rooms inside them import each other.
import { readFileSync } from 'node:fs'
import { dirname, relative, resolve, sep } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
const layers = JSON.parse(readFileSync(resolve(root, 'layers.json'), 'utf8'))

const doors = {
  create(context) {
    const here = roomOf(context.filename)
    if (here === undefined || /\.test\.tsx?$|[\\/]test[\\/]/.test(context.filename)) return {}
    const check = (node) => {
      const specifier = node.source?.value
      if (typeof specifier !== 'string' || !specifier.startsWith('.')) return
      const there = roomOf(resolve(dirname(context.filename), specifier))
      const message = there?.source === here.source ? complaint(here, there) : undefined
      if (message !== undefined) context.report({ node, message })
    }
    return {
      ImportDeclaration: check,
      ImportExpression: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
    }
  },
}

function complaint(here, there) {
  if (here.layer < 0) return `layers.json does not list the room "${here.name}" of ${here.source}`
  if (there.layer < 0) return `layers.json does not list the room "${there.name}" of ${there.source}`
  if (shareLayer(layers[here.source], here.name, there.name))
    return `"${here.name}" may not import from "${there.name}": they share a layer (see layers.json)`
  if (there.layer <= here.layer) return undefined
  return `"${here.name}" may not import from "${there.name}": it is a lower layer (see layers.json)`
}

function shareLayer(list, left, right) {
  const isInside = (name, room) => name === room || name.startsWith(`${room}/`)
  return list.filter(Array.isArray).some((rooms) => {
    const [leftRoom, rightRoom] = [left, right].map((name) => rooms.find((room) => isInside(name, room)))
    return leftRoom !== undefined && rightRoom !== undefined && leftRoom !== rightRoom
  })
}

/** Which package's sources a file belongs to, its folder there, and how high that folder stands. */
function roomOf(path) {
  const source = Object.keys(layers).find((folder) => path.startsWith(resolve(root, folder) + sep))
  if (source === undefined) return undefined
  const name = relative(resolve(root, source), dirname(path)).replaceAll(sep, '/') || '.'
  return { source, name, layer: layers[source].findIndex((layer) => [layer].flat().includes(name)) }
}

export default { meta: { name: 'house' }, rules: { doors } }
