// side
