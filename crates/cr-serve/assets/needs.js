// needs
