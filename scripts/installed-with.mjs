/** The lock file paths of every package installed with these workspaces, resolved the way Node does. */
export function installedWith(workspaces, { packages }) {
  const found = new Set()
  const visit = (path) => {
    const { dependencies, optionalDependencies } = packages[path] ?? {}
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const place = findPlace(path, name, packages)
      if (place === undefined || found.has(place)) continue
      found.add(place)
      visit(packages[place].link === true ? packages[place].resolved : place)
    }
  }
  workspaces.forEach(visit)
  const own = [...found].filter((place) => packages[place].link !== true)
  return own.toSorted((left, right) => left.localeCompare(right))
}

function findPlace(from, name, packages) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const place = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (packages[place] !== undefined) return place
    if (folder === '') return undefined
  }
}
